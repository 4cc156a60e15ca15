package scenarios

import (
	"fmt"
	"strings"
)

// hTongue is a language: the words that any work needs, and the parts of which
// sentences are made.
type hTongue struct {
	leads    []string // before a step; %s is what the step is about
	thoughts []string // after the lead, in agents that think aloud
	acks     []string // a tool's acknowledgement
	none     []string // a tool's empty answer
	goOn     []string // a person who wants more
	done     []string // the last word of an agent
	subjects []string
	verbs    []string
	objects  []string
	tails    []string // with one %s for a place or one %d
	glue     string
	stop     string
	cities   []string
	first    []string // names
	last     []string // none: invented ones
}

// The order in which kits translate.
const (
	hEnglish = iota
	hGerman
	hSpanish
	hFrench
	hPortuguese
	hChinese
	hJapanese
	hRussian
)

func hSplit(s string) []string { return strings.Split(s, "|") }

var hTongues = []hTongue{
	hEnglish: {
		thoughts: hSplit("So far everything fits together.|I note the outcome for the summary.|That leaves the rest of the list.|The last answer was as expected.|I want to be sure nothing is missed here.|This one may need a second look later.|I keep the order that was asked for.|After that I compare it with the earlier ones.|It should not take long.|The previous one is settled.|Let me be careful with the details.|I have what I need from the last step.|This follows from what I saw before.|Then the picture will be clearer.|Good, one step closer.|I will come back to the open points at the end."),
		leads:    hSplit("Now %s.|Next is %s.|Let me take %s.|On to %s.|%s comes next.|I continue with %s.|Let me look at %s.|Turning to %s.|Then %s.|I'll handle %s now.|Still open: %s.|Let's do %s."),
		acks:     hSplit("ok|done|Success|The operation completed successfully.|Saved.|Accepted|Request processed"), none: hSplit("No results found.|[]|Nothing found|(no output)|0 results|No matches."),
		goOn: hSplit("continue|go on|next|more|keep going|please continue"), done: hSplit("All done.|That was the last one.|Everything is finished.|The work is complete."),
		glue:   " ",
		cities: hSplit("Aarhus|Bergen|Cork|Dover|Exeter|Ghent|Halifax|Ipswich|Leeds|Oslo|Perth|Quebec|Riga|Salem|Tampa|Utica|Vaasa|Wells|York|Austin|Boise|Denver|Fresno|Galway|Hobart|Ottawa|Reno|Tucson"),
		first:  hSplit("Ada|Ben|Cleo|Dev|Eli|Fay|Gus|Hana|Ivo|Jill|Kofi|Lena|Max|Nia|Omar|Pia|Quinn|Rosa|Sam|Tess|Uma|Vik|Wes|Yara|Zoe"),
	},
	hGerman: {
		thoughts: hSplit("Bisher passt alles zusammen.|Das Ergebnis merke ich mir für die Zusammenfassung.|Danach bleibt noch der Rest der Liste.|Die letzte Antwort war wie erwartet.|Ich will nichts übersehen.|Das dürfte nicht lange dauern.|Der vorige Punkt ist geklärt."),
		leads:    hSplit("Jetzt %s.|Als Nächstes %s.|Ich nehme mir %s vor.|Weiter mit %s.|Nun kommt %s dran.|Ich sehe mir %s an.|Danach %s."),
		acks:     hSplit("ok|Erledigt.|Gespeichert.|Der Vorgang wurde erfolgreich abgeschlossen.|Änderung übernommen"), none: hSplit("Keine Treffer.|[]|Es wurden keine Einträge gefunden.|(keine Ausgabe)"),
		goOn: hSplit("weiter|mach weiter|und weiter?|bitte weiter"), done: hSplit("Fertig.|Das war der letzte Punkt.|Alles ist erledigt."),
		subjects: hSplit("Der Hafenmeister|Die Lehrerin|Der Verein|Die Gemeinde|Das Museum|Die Werkstatt|Der Gärtner|Die Behörde|Der Verlag|Die Molkerei|Das Orchester|Die Bäckerin"),
		verbs:    hSplit("plant|prüft|verkauft|beschreibt|erneuert|sucht|lobt|verschiebt|bezahlt|zeigt|vermietet"),
		objects:  hSplit("den alten Kran|die neue Brücke|das Lager am Fluss|einen Vertrag|zwei Maschinen|die Rechnung|das Dach|den Fahrplan|eine Ausstellung|die Ernte|das Archiv"),
		tails:    hSplit("in %s|seit %d Tagen|für %d Euro|zusammen mit %s|nach %d Jahren|trotz der Kritik aus %s"), glue: " ", stop: ".",
		cities: hSplit("Aachen|Bremen|Celle|Dresden|Erfurt|Freiburg|Graz|Husum|Jena|Kassel|Linz|Mainz|Passau|Rostock|Trier|Ulm|Worms|Zwickau"),
		first:  hSplit("Anna|Bernd|Carla|Dirk|Eva|Fritz|Greta|Heiko|Ines|Jörg|Karin|Lutz|Mona|Nils|Olga|Petra|Rolf|Silke|Uwe|Vera"),
	},
	hSpanish: {
		thoughts: hSplit("Hasta ahora todo cuadra.|Anoto el resultado para el resumen.|Luego queda el resto de la lista.|La última respuesta era la esperada.|No quiero pasar nada por alto.|El punto anterior está resuelto."),
		leads:    hSplit("Ahora %s.|Sigue %s.|Paso a %s.|Voy con %s.|Toca %s.|Reviso %s."),
		acks:     hSplit("ok|Hecho.|Guardado.|La operación se ha completado correctamente.|Solicitud aceptada"), none: hSplit("Sin resultados.|[]|No se encontraron registros.|(sin salida)"),
		goOn: hSplit("sigue|continúa|más|adelante, por favor"), done: hSplit("Listo.|Era el último.|Todo está terminado."),
		subjects: hSplit("El alcalde|La maestra|El museo|La fábrica|El jardinero|La cooperativa|El periódico|La orquesta|El taller|La panadera|El puerto"),
		verbs:    hSplit("revisa|vende|describe|renueva|busca|elogia|aplaza|paga|muestra|alquila|limpia"),
		objects:  hSplit("la grúa vieja|el puente nuevo|el almacén del río|un contrato|dos máquinas|la factura|el tejado|el horario|una exposición|la cosecha"),
		tails:    hSplit("en %s|desde hace %d días|por %d euros|junto con %s|después de %d años|a pesar de las quejas de %s"), glue: " ", stop: ".",
		cities: hSplit("Almería|Burgos|Cádiz|Gijón|Huesca|Jaén|León|Murcia|Oviedo|Palencia|Rosario|Salta|Toledo|Valdivia|Zamora|Cusco"),
		first:  hSplit("Ana|Beto|Carmen|Diego|Elena|Fermín|Gloria|Hugo|Inés|Juan|Lola|Mateo|Nuria|Pablo|Rocío|Sergio|Teresa|Víctor"),
	},
	hFrench: {
		thoughts: hSplit("Jusqu'ici tout concorde.|Je note le résultat pour le résumé.|Il restera ensuite le reste de la liste.|La dernière réponse était attendue.|Je ne veux rien oublier.|Le point précédent est réglé."),
		leads:    hSplit("Maintenant %s.|Ensuite %s.|Je passe à %s.|Au tour de %s.|Je regarde %s.|Puis %s."),
		acks:     hSplit("ok|Fait.|Enregistré.|L'opération s'est terminée avec succès.|Demande acceptée"), none: hSplit("Aucun résultat.|[]|Aucune entrée trouvée.|(aucune sortie)"),
		goOn: hSplit("continue|la suite|encore|poursuivez"), done: hSplit("C'est fini.|C'était le dernier.|Tout est terminé."),
		subjects: hSplit("Le maire|La maîtresse|Le musée|La fabrique|Le jardinier|La mairie|Le journal|La fanfare|Le garage|La boulangère|Le port"),
		verbs:    hSplit("vérifie|vend|décrit|rénove|cherche|félicite|reporte|paie|montre|loue|nettoie"),
		objects:  hSplit("la vieille grue|le nouveau pont|l'entrepôt du canal|un contrat|deux machines|la facture|le toit|l'horaire|une exposition|la récolte"),
		tails:    hSplit("à %s|depuis %d jours|pour %d euros|avec l'aide de %s|après %d ans|malgré les plaintes de %s"), glue: " ", stop: ".",
		cities: hSplit("Amiens|Brest|Caen|Dijon|Évreux|Foix|Gap|Laval|Metz|Nantes|Orange|Pau|Reims|Sète|Tours|Vannes"),
		first:  hSplit("Alice|Bruno|Chloé|Denis|Élise|Fabien|Gaëlle|Hugo|Inès|Jules|Lucie|Marc|Noémie|Oscar|Paul|Rémi|Sophie|Yves"),
	},
	hPortuguese: {
		thoughts: hSplit("Até agora tudo bate certo.|Anoto o resultado para o resumo.|Depois fica o resto da lista.|A última resposta era a esperada.|Não quero deixar passar nada.|O ponto anterior está resolvido."),
		leads:    hSplit("Agora %s.|A seguir, %s.|Passo para %s.|É a vez de %s.|Vou ver %s."),
		acks:     hSplit("ok|Feito.|Gravado.|A operação foi concluída com sucesso.|Pedido aceite"), none: hSplit("Sem resultados.|[]|Nenhum registo encontrado.|(sem saída)"),
		goOn: hSplit("continua|segue|mais|pode continuar"), done: hSplit("Pronto.|Era o último.|Está tudo terminado."),
		subjects: hSplit("O prefeito|A professora|O museu|A fábrica|O jardineiro|A cooperativa|O jornal|A orquestra|A oficina|A padeira|O porto"),
		verbs:    hSplit("verifica|vende|descreve|renova|procura|elogia|adia|paga|mostra|aluga|limpa"),
		objects:  hSplit("o guindaste velho|a ponte nova|o armazém do rio|um contrato|duas máquinas|a fatura|o telhado|o horário|uma exposição|a colheita"),
		tails:    hSplit("em %s|há %d dias|por %d reais|junto com %s|depois de %d anos|apesar das queixas de %s"), glue: " ", stop: ".",
		cities: hSplit("Aveiro|Braga|Coimbra|Évora|Faro|Guarda|Leiria|Natal|Olinda|Porto|Recife|Santos|Sintra|Tomar|Viseu|Belém"),
		first:  hSplit("Afonso|Beatriz|Caio|Dora|Edu|Filipa|Gil|Helena|Ivo|Joana|Luís|Marta|Nuno|Olívia|Rui|Sara|Tiago|Vasco"),
	},
	hChinese: {
		thoughts: hSplit("到目前为止一切正常。|我把结果记下来。|之后还剩下其余的部分。|上一个结果符合预期。|我不想漏掉任何东西。|上一项已经解决。"),
		leads:    hSplit("现在处理%s。|接下来是%s。|下一个：%s。|我来看一下%s。|继续%s。"),
		acks:     hSplit("成功|已完成|已保存。|操作成功完成。|请求已受理"), none: hSplit("没有结果。|[]|未找到任何记录。|（无输出）"),
		goOn: hSplit("继续|接着说|下一个|请继续"), done: hSplit("全部完成了。|这是最后一个。|工作已经结束。"),
		subjects: hSplit("港务局|老师|博物馆|工厂|园丁|市政府|出版社|乐队|面包店|研究小组|图书馆|医院"),
		verbs:    hSplit("计划更换|正在检查|卖掉了|介绍了|推迟了|赞扬了|需要|展出了|出租了|清洗了"),
		objects:  hSplit("旧起重机|新桥|河边的仓库|两台机器|屋顶|时刻表|一份合同|今年的收成|发票|档案"),
		tails:    hSplit("，地点在%s|，花了%d天|，费用为%d元|，由%s负责|，已经%d年了|，尽管%s有人反对"), glue: "", stop: "。",
		cities: hSplit("成都|大连|福州|广州|杭州|济南|昆明|兰州|南京|青岛|沈阳|苏州|天津|武汉|西安|厦门"),
		first:  hSplit("伟|芳|娜|敏|静|丽|强|磊|军|洋|勇|艳|杰|娟|涛|明"), last: hSplit("王|李|张|刘|陈|杨|赵|黄|周|吴|徐|孙|胡|朱"),
	},
	hJapanese: {
		thoughts: hSplit("ここまでは問題ありません。|結果を控えておきます。|残りはその後に確認します。|前の結果は予想どおりでした。|見落としがないようにします。|前の項目は解決しました。"),
		leads:    hSplit("次は%sです。|%sを確認します。|続いて%sに進みます。|%sを処理します。|では%sを見ます。"),
		acks:     hSplit("完了|保存しました。|正常に終了しました。|受け付けました。|OK"), none: hSplit("該当なし|[]|結果が見つかりませんでした。|（出力なし）"),
		goOn: hSplit("続けて|続きをお願いします|次をお願いします|もっと"), done: hSplit("すべて完了しました。|これで最後です。|作業は終わりです。"),
		subjects: hSplit("港の管理者は|先生は|博物館は|工場は|庭師は|市役所は|出版社は|楽団は|パン屋は|研究班は|図書館は"),
		verbs:    hSplit("古いクレーンを|新しい橋を|川沿いの倉庫を|二台の機械を|屋根を|時刻表を|契約書を|今年の収穫を|請求書を"),
		objects:  hSplit("交換する予定です|点検しています|売りました|紹介しました|延期しました|必要としています|展示しました|貸し出しました"),
		tails:    hSplit("（%sにて）|（%d日間）|（費用は%d円）|（担当は%s）|（%d年ぶり）"), glue: "", stop: "。",
		cities: hSplit("青森|福岡|岐阜|函館|鹿児島|京都|松江|長野|大阪|札幌|仙台|高松|富山|宇都宮|横浜"),
		first:  hSplit("健|美咲|翔|葵|蓮|陽菜|大輔|恵|直樹|由美|隆|さくら"), last: hSplit("佐藤|鈴木|高橋|田中|渡辺|伊藤|山本|中村|小林|加藤|吉田"),
	},
	hRussian: {
		thoughts: hSplit("Пока всё сходится.|Записываю результат для отчёта.|Потом останется остальная часть списка.|Последний ответ был ожидаемым.|Не хочу ничего упустить.|Предыдущий пункт закрыт."),
		leads:    hSplit("Теперь %s.|Дальше %s.|Перехожу к следующему: %s.|Смотрю %s.|Проверяю %s."),
		acks:     hSplit("ok|Готово.|Сохранено.|Операция успешно завершена.|Запрос принят"), none: hSplit("Ничего не найдено.|[]|Записей нет.|(нет вывода)"),
		goOn: hSplit("дальше|продолжай|ещё|продолжайте, пожалуйста"), done: hSplit("Готово.|Это был последний пункт.|Всё сделано."),
		subjects: hSplit("Начальник порта|Учительница|Музей|Завод|Садовник|Мэрия|Издательство|Оркестр|Мастерская|Пекарня|Лаборатория"),
		verbs:    hSplit("проверяет|продаёт|описывает|обновляет|ищет|хвалит|откладывает|оплачивает|показывает|сдаёт в аренду"),
		objects:  hSplit("старый кран|новый мост|склад у реки|договор|две машины|счёт|крышу|расписание|выставку|урожай|архив"),
		tails:    hSplit("в городе %s|уже %d дней|за %d рублей|по просьбе города %s|спустя %d лет"), glue: " ", stop: ".",
		cities: hSplit("Архангельск|Владимир|Вологда|Иркутск|Казань|Калуга|Мурманск|Омск|Пермь|Псков|Рязань|Тула|Тверь|Уфа|Ярославль"),
		first:  hSplit("Анна|Борис|Вера|Глеб|Дарья|Егор|Зоя|Иван|Кира|Лев|Мария|Никита|Ольга|Пётр|Светлана|Тимур"), last: hSplit("Иваненко|Петренко|Сидоренко|Черных|Долгих|Шевченко|Бондаренко|Седых|Ткаченко|Белых"),
	},
}

// sentence is one in this language that few others have.
func (t *hTongue) sentence(w *words) string {
	if len(t.subjects) == 0 {
		return hSentence(w)
	}
	tail := pick(w, t.tails...)
	if strings.Contains(tail, "%d") {
		tail = fmt.Sprintf(tail, w.between(2, 99))
	} else {
		tail = fmt.Sprintf(tail, pick(w, t.cities...))
	}
	parts := []string{pick(w, t.subjects...), pick(w, t.verbs...), pick(w, t.objects...), tail}
	return strings.Join(parts, t.glue) + t.stop
}

// person is a full name.
func (t *hTongue) person(w *words) string {
	first := pick(w, t.first...)
	if len(t.last) == 0 {
		return first + " " + w.name()
	}
	if t.glue == "" {
		return pick(w, t.last...) + first
	}
	return first + " " + pick(w, t.last...)
}
