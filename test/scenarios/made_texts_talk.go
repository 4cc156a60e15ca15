package scenarios

import (
	"fmt"
	"strings"
)

// hTalks are questions and their answers, by language, in one order. The words
// in braces are filled alike in both.
var hTalks = [][2][]string{
	hEnglish: {hSplit("When does the museum in {city} open?|How long does it take to get to {city}?|Who is responsible for {city}?|My parcel {id} to {city} has not arrived yet.|I was charged {m} twice.|What does the room in {city} cost?|Can I change the booking {id} to another day?|Is there a table for {n} in {city} tonight?|How do I return the item {id}?|Which train to {city} has the fewest changes?"),
		hSplit("It opens at {n}:30; on Mondays it is closed.|About {n} hours by train; the ticket costs {m}.|{person} is, extension {m}.|Parcel {id} left {city} {n} days ago and arrives tomorrow.|You are right: {m} was booked twice and comes back within {n} days.|{m} per night, breakfast for {n} guests included.|Yes, {person} moved {id} to the {n}th.|There is one at eight; ask for {person}.|Bring it to the shop in {city} within {n} days, with the number {id}.|The one at {n}:12; it costs {m}.")},
	hGerman: {hSplit("Wann öffnet das Museum in {city}?|Wie lange dauert die Fahrt nach {city}?|Wer ist für {city} zuständig?|Mein Paket {id} nach {city} ist noch nicht da.|Mir wurden {m} Euro doppelt abgebucht.|Was kostet das Zimmer in {city}?"),
		hSplit("Es öffnet um {n}:30 Uhr, montags ist zu.|Etwa {n} Stunden mit dem Zug, die Karte kostet {m} Euro.|Das ist {person}, Durchwahl {m}.|Das Paket {id} hat {city} vor {n} Tagen verlassen und kommt morgen.|Sie haben recht: {m} Euro wurden doppelt gebucht und kommen in {n} Tagen zurück.|{m} Euro pro Nacht, Frühstück für {n} Gäste inbegriffen.")},
	hSpanish: {hSplit("¿A qué hora abre el museo de {city}?|¿Cuánto se tarda en llegar a {city}?|¿Quién se encarga de {city}?|Mi paquete {id} para {city} no ha llegado.|Me han cobrado {m} euros dos veces.|¿Cuánto cuesta la habitación en {city}?"),
		hSplit("Abre a las {n}:30; los lunes está cerrado.|Unas {n} horas en tren; el billete cuesta {m} euros.|{person}, extensión {m}.|El paquete {id} salió de {city} hace {n} días y llega mañana.|Tiene razón: {m} euros se cobraron dos veces y vuelven en {n} días.|{m} euros por noche, con desayuno para {n}.")},
	hFrench: {hSplit("À quelle heure ouvre le musée de {city} ?|Combien de temps faut-il pour aller à {city} ?|Qui s'occupe de {city} ?|Mon colis {id} pour {city} n'est pas arrivé.|On m'a débité {m} euros deux fois.|Combien coûte la chambre à {city} ?"),
		hSplit("Il ouvre à {n} h 30 ; le lundi il est fermé.|Environ {n} heures en train ; le billet coûte {m} euros.|C'est {person}, poste {m}.|Le colis {id} a quitté {city} il y a {n} jours et arrive demain.|Vous avez raison : {m} euros ont été débités deux fois et reviennent sous {n} jours.|{m} euros la nuit, petit déjeuner pour {n} compris.")},
	hPortuguese: {hSplit("A que horas abre o museu de {city}?|Quanto tempo demora até {city}?|Quem trata de {city}?|A minha encomenda {id} para {city} não chegou.|Cobraram-me {m} euros duas vezes.|Quanto custa o quarto em {city}?"),
		hSplit("Abre às {n}:30; à segunda está fechado.|Cerca de {n} horas de comboio; o bilhete custa {m} euros.|É {person}, extensão {m}.|A encomenda {id} saiu de {city} há {n} dias e chega amanhã.|Tem razão: {m} euros foram cobrados duas vezes e voltam em {n} dias.|{m} euros por noite, com pequeno-almoço para {n}.")},
	hChinese: {hSplit("{city}的博物馆几点开门？|到{city}要多久？|{city}由谁负责？|我寄到{city}的包裹{id}还没到。|我被扣了两次{m}元。|{city}的房间多少钱？"),
		hSplit("{n}点半开门，星期一休息。|坐火车大约{n}小时，票价{m}元。|由{person}负责，分机{m}。|包裹{id}在{n}天前离开{city}，明天送到。|您说得对，{m}元被扣了两次，{n}天内退回。|每晚{m}元，含{n}人的早餐。")},
	hJapanese: {hSplit("{city}の博物館は何時に開きますか。|{city}まではどのくらいかかりますか。|{city}の担当は誰ですか。|{city}宛ての荷物{id}がまだ届きません。|{m}円が二回引き落とされました。|{city}の部屋はいくらですか。"),
		hSplit("{n}時半に開きます。月曜日は休みです。|電車で約{n}時間、切符は{m}円です。|{person}です。内線は{m}です。|荷物{id}は{n}日前に{city}を出て、明日届きます。|おっしゃるとおり{m}円が二回引き落とされていました。{n}日以内に返金します。|一泊{m}円で、{n}名分の朝食付きです。")},
	hRussian: {hSplit("Когда открывается музей? Город {city}.|Сколько ехать до города {city}?|Кто отвечает за город {city}?|Моя посылка {id} ещё не пришла, город {city}.|С меня дважды сняли {m} рублей.|Сколько стоит номер? Город {city}."),
		hSplit("В {n}:30, по понедельникам закрыто.|Около {n} часов поездом, билет стоит {m} рублей.|{person}, добавочный {m}.|Посылка {id} отправлена {n} дней назад, город {city}, и придёт завтра.|Вы правы: {m} рублей списали дважды, деньги вернутся через {n} дней.|{m} рублей за ночь, завтрак на {n} человек включён.")},
}

// question is a question and the answer to it.
func (k *hKit) question() (question, reply string) {
	t := hTalks[k.tongue]
	i, fill := k.IntN(len(t[0])), k.filling()
	return fill.Replace(t[0][i]), fill.Replace(t[1][i])
}

// pair is an English sentence and its translation into the kit's language.
func (k *hKit) pair() (source, translated string) {
	t, side := hTalks[k.tongue], k.IntN(2)
	i, fill := k.IntN(len(t[0])), k.filling()
	return fill.Replace(hTalks[hEnglish][side][i]), fill.Replace(t[side][i])
}

func (k *hKit) filling() *strings.Replacer {
	return strings.NewReplacer("{city}", k.city(), "{person}", k.person(k.words), "{n}", fmt.Sprint(k.between(2, 19)), "{m}", fmt.Sprint(k.between(20, 9000)), "{id}", hID(k.words))
}
