package scenarios

import (
	"fmt"
	"strings"
)

// stongue is what people, agents and tools say in one language.
type stongue struct {
	system, task                  []string // with the name of what it is about
	look                          []string // before a new step, with its name
	open, body, tail              []string // an agent before it acts
	claim                         []string // it believes that it has succeeded
	missing                       []string // with the name that was asked for
	denied, invalid, down         []string // refusals
	thanks, welcome               []string
	blocked, remind, next, settle []string // blocked; a harness; a handing over; a conclusion (both with a name)
}

func sl(s string) []string { return strings.Split(s, "|") }

var sEnglish = stongue{
	system: sl("You are an assistant of %s. Use the tools to finish what you are asked to do.|You work for %s and act on your own.|You are an autonomous agent at %s. Never stop before the task is done."),
	task:   sl("Please take care of %s and tell me when it is done.|Find out what is wrong with %s and put it right.|I need a result for %s today.|Check %s and report back."),
	look:   sl("Next I look at %s.|Now %s.|Let me check %s.|%s may tell more."),
	open:   sl("Okay.|Hmm.|Right.|Let me see.|I see.|All right.|Good.|Understood.|Interesting.|Now then.||"),
	body: sl("I'll try this step now.|Let me run that once more.|I repeat it to be sure.|I should get it this time.|The next step is clear, so I take it.|I'll give it another go.|It makes sense to do this first." +
		"|I continue with the obvious next step.|I need this before I can go on.|Doing it again, with care.|A fresh attempt may help.|This is what is needed next.|Perhaps it was only a glitch.|I have a good feeling about this one."),
	tail:    sl("This should settle it.|Then I can move on.|After that the rest is easy.|It will not take long.|I am confident that it works.|We are nearly there.||||"),
	claim:   sl("That worked.|The step has been completed successfully.|Great, this is done now.|The action went through.|Excellent, the page has accepted it.|We are making good progress."),
	missing: sl("%s was not found|No such file or directory: %s|Could not find %s. Check the spelling and try again.|There is no entry named %s in this workspace"),
	denied:  sl("Permission denied: this account may not do that|403 Forbidden: the role 'viewer' is not allowed to perform this action|Access denied by policy. Contact your administrator.|Operation not permitted"),
	invalid: sl("Validation failed: field 'due' must be a valid business day|The request does not match the schema: 'items' must not be empty|Invalid value: 'mode' is not one of the allowed values"),
	down:    sl("The service is unavailable in this environment|Network is unreachable|connect ECONNREFUSED|The quota of this workspace is used up"),
	thanks:  sl("Thank you so much for your help!|Thanks again, I really appreciate it.|Many thanks, it was great to work with you.|I am very grateful for your support.|Thank you, that is very kind of you.|Thanks a lot, have a wonderful day!"),
	welcome: sl("You're very welcome!|It was my pleasure, any time.|Likewise, thank you for the good cooperation.|Glad to help, all the best to you.|The pleasure is all mine, take care!|Thank you as well, see you soon."),
	blocked: sl("I am blocked: I have no access to it.|I cannot go on without the credentials.|A person has to grant me access first.|Without access there is nothing more that I can do.|Please advise how I should proceed.|I am still waiting for access and cannot continue."),
	remind:  sl("Please continue with the task.|You have not finished yet. Continue.|Automatic reminder: go on working until the task is done.|Do not stop. Use your tools or call done when it is complete."),
	next:    sl("Over to you, %s.|%s, please take it from here.|I hand this over to %s, who knows it best.|This is a matter for %s; please go ahead."),
	settle:  sl("The result for %s stands as stated.|As I said, %s is finished and nothing is left to do.|To sum up again: %s is complete.|My conclusion about %s remains the same.|There is nothing to add on %s.|All points on %s have been dealt with."),
}

var sOthers = []stongue{
	{
		system: sl("Du bist ein Assistent von %s und arbeitest mit Werkzeugen.|Du arbeitest selbständig für %s. Höre erst auf, wenn die Aufgabe erledigt ist."),
		task:   sl("Bitte kümmere dich um %s und melde dich, wenn es erledigt ist.|Finde heraus, was mit %s nicht stimmt, und behebe es.|Ich brauche heute ein Ergebnis zu %s."),
		look:   sl("Als Nächstes sehe ich %s an.|Nun zu %s."),
		open:   sl("Gut.|Also.|In Ordnung.|Mal sehen.|Verstanden.|Hm.||"),
		body: sl("Ich versuche diesen Schritt jetzt.|Ich führe das noch einmal aus.|Diesmal sollte es klappen.|Der nächste Schritt ist klar.|Ich wiederhole es sicherheitshalber." +
			"|Das brauche ich, bevor es weitergeht.|Vielleicht war es nur eine Störung.|Ein neuer Anlauf könnte helfen."),
		tail:    sl("Danach ist der Rest einfach.|Dann geht es weiter.|Das dauert nicht lange.|Wir sind fast am Ziel.|||"),
		claim:   sl("Das hat funktioniert.|Der Schritt ist erfolgreich abgeschlossen.|Sehr gut, das ist erledigt.|Die Seite hat die Eingabe angenommen."),
		missing: sl("%s wurde nicht gefunden|Der Eintrag %s existiert nicht. Bitte prüfen Sie die Schreibweise.|Keine Datei mit dem Namen %s vorhanden"),
		denied:  sl("Zugriff verweigert: Für diese Aktion fehlt die Berechtigung|Diese Aktion ist für Ihr Konto nicht freigegeben"),
		invalid: sl("Ungültige Eingabe: Das Feld 'Datum' muss ein Werktag sein|Die Anfrage entspricht nicht dem Schema: 'positionen' darf nicht leer sein"),
		down:    sl("Der Dienst ist in dieser Umgebung nicht verfügbar|Netzwerk nicht erreichbar"),
		thanks:  sl("Vielen Dank für Ihre Hilfe!|Nochmals herzlichen Dank.|Danke, das war sehr freundlich von Ihnen.|Ich danke Ihnen für die gute Zusammenarbeit."),
		welcome: sl("Sehr gern geschehen!|Es war mir ein Vergnügen.|Ich danke ebenfalls, alles Gute!|Jederzeit wieder, einen schönen Tag noch."),
		blocked: sl("Ich komme nicht weiter: Mir fehlt der Zugang.|Ohne Zugangsdaten kann ich nichts tun.|Bitte geben Sie mir Bescheid, wie ich vorgehen soll.|Ich warte weiterhin auf die Freigabe."),
		remind:  sl("Bitte setze die Aufgabe fort.|Du bist noch nicht fertig. Mach weiter.|Automatische Erinnerung: Arbeite weiter, bis die Aufgabe erledigt ist."),
		next:    sl("Bitte übernimm du, %s.|Das ist Sache von %s, ich gebe ab.|%s, du bist dran."),
		settle:  sl("Das Ergebnis zu %s bleibt wie genannt.|Wie gesagt ist %s abgeschlossen.|Zu %s gibt es nichts hinzuzufügen.|Zusammengefasst: %s ist fertig."),
	},
	{
		system:  sl("Eres un asistente de %s y trabajas con herramientas.|Trabajas de forma autónoma para %s. No pares hasta terminar."),
		task:    sl("Ocúpate de %s y avísame cuando esté listo.|Averigua qué le pasa a %s y arréglalo.|Necesito hoy un resultado para %s."),
		look:    sl("Ahora miro %s.|Paso a %s."),
		open:    sl("Bien.|A ver.|De acuerdo.|Entendido.|Vale.||"),
		body:    sl("Voy a intentar este paso.|Lo ejecuto una vez más.|Esta vez debería salir.|El siguiente paso está claro.|Lo repito para estar seguro.|Necesito esto antes de seguir.|Quizá fue solo un fallo puntual."),
		tail:    sl("Después lo demás es fácil.|Luego puedo continuar.|No tardará mucho.|Ya casi estamos.|||"),
		claim:   sl("Ha funcionado.|El paso se ha completado con éxito.|Perfecto, esto ya está hecho.|La página ha aceptado los datos."),
		missing: sl("No se encontró %s|No existe ningún archivo llamado %s|La entrada %s no existe. Revise la ortografía."),
		denied:  sl("Permiso denegado: esta cuenta no puede realizar la acción|Acceso denegado por la política de la empresa"),
		invalid: sl("Validación fallida: el campo 'fecha' debe ser un día laborable|La solicitud no cumple el esquema: 'partidas' no puede estar vacío"),
		down:    sl("El servicio no está disponible en este entorno|La red es inaccesible"),
		thanks:  sl("¡Muchas gracias por su ayuda!|Gracias de nuevo, es usted muy amable.|Le agradezco mucho la colaboración.|Mil gracias, que tenga un buen día."),
		welcome: sl("¡De nada, ha sido un placer!|No hay de qué, siempre a su disposición.|Gracias a usted por la confianza.|Igualmente, que le vaya muy bien."),
		blocked: sl("Estoy bloqueado: no tengo acceso.|Sin las credenciales no puedo seguir.|Por favor, indíqueme cómo debo proceder.|Sigo a la espera de que me den acceso."),
		remind:  sl("Por favor, continúa con la tarea.|Aún no has terminado. Sigue.|Recordatorio automático: continúa hasta completar la tarea."),
		next:    sl("Te toca, %s.|%s, sigue tú, por favor.|Esto le corresponde a %s, se lo paso."),
		settle:  sl("El resultado de %s sigue siendo el mismo.|Como dije, %s está terminado.|No hay nada que añadir sobre %s.|En resumen, %s está completo."),
	},
	{
		system:  sl("Tu es un assistant de %s et tu travailles avec des outils.|Tu travailles seul pour %s. Ne t'arrête pas avant la fin."),
		task:    sl("Occupe-toi de %s et dis-moi quand c'est fait.|Trouve ce qui ne va pas avec %s et corrige-le.|Il me faut un résultat pour %s aujourd'hui."),
		look:    sl("Je regarde maintenant %s.|Passons à %s."),
		open:    sl("Bien.|Voyons.|D'accord.|Compris.|Très bien.||"),
		body:    sl("J'essaie cette étape maintenant.|Je relance encore une fois.|Cette fois cela devrait marcher.|L'étape suivante est claire.|Je recommence pour être sûr.|J'en ai besoin avant de continuer.|C'était peut-être un incident passager."),
		tail:    sl("Ensuite le reste sera simple.|Puis je pourrai avancer.|Cela ne prendra pas longtemps.|Nous y sommes presque.|||"),
		claim:   sl("Cela a fonctionné.|L'étape est terminée avec succès.|Parfait, c'est fait.|La page a accepté la saisie."),
		missing: sl("%s est introuvable|Aucun fichier ne porte le nom %s|L'élément %s n'existe pas. Vérifiez l'orthographe."),
		denied:  sl("Accès refusé : ce compte n'a pas les droits nécessaires|Opération non autorisée par la politique de sécurité"),
		invalid: sl("Échec de la validation : le champ 'date' doit être un jour ouvré|La requête ne respecte pas le schéma : 'lignes' ne doit pas être vide"),
		down:    sl("Le service n'est pas disponible dans cet environnement|Le réseau est inaccessible"),
		thanks:  sl("Merci beaucoup pour votre aide !|Encore merci, c'est très aimable.|Je vous remercie pour cette belle collaboration.|Mille mercis et bonne journée !"),
		welcome: sl("Je vous en prie !|Ce fut un plaisir, à votre service.|C'est moi qui vous remercie.|De rien, excellente journée à vous."),
		blocked: sl("Je suis bloqué : je n'ai pas d'accès.|Sans identifiants je ne peux pas continuer.|Merci de m'indiquer la marche à suivre.|J'attends toujours qu'on m'ouvre l'accès."),
		remind:  sl("Merci de poursuivre la tâche.|Tu n'as pas encore fini. Continue.|Rappel automatique : continue jusqu'à la fin de la tâche."),
		next:    sl("À toi, %s.|%s, prends la suite, s'il te plaît.|C'est du ressort de %s, je lui passe la main."),
		settle:  sl("Le résultat pour %s reste le même.|Comme je l'ai dit, %s est terminé.|Rien à ajouter sur %s.|En résumé, %s est complet."),
	},
	{
		system:  sl("Você é um assistente da %s e trabalha com ferramentas.|Você trabalha sozinho para a %s. Não pare antes de terminar."),
		task:    sl("Cuide de %s e me avise quando estiver pronto.|Descubra o que há de errado com %s e corrija.|Preciso hoje de um resultado para %s."),
		look:    sl("Agora vejo %s.|Passo para %s."),
		open:    sl("Certo.|Vejamos.|Tudo bem.|Entendido.|Ok.||"),
		body:    sl("Vou tentar este passo agora.|Executo mais uma vez.|Desta vez deve funcionar.|O próximo passo está claro.|Repito para ter certeza.|Preciso disto antes de seguir.|Talvez tenha sido só uma falha."),
		tail:    sl("Depois o resto é fácil.|Então posso avançar.|Não vai demorar.|Estamos quase lá.|||"),
		claim:   sl("Funcionou.|O passo foi concluído com sucesso.|Ótimo, isto está feito.|A página aceitou os dados."),
		missing: sl("%s não foi encontrado|Não existe arquivo com o nome %s|O registro %s não existe. Verifique a grafia."),
		denied:  sl("Permissão negada: esta conta não pode executar a ação|Acesso negado pela política da empresa"),
		invalid: sl("Falha na validação: o campo 'data' deve ser um dia útil|A solicitação não segue o esquema: 'itens' não pode estar vazio"),
		down:    sl("O serviço não está disponível neste ambiente|A rede está inacessível"),
		thanks:  sl("Muito obrigado pela ajuda!|Obrigado mais uma vez, foi muito gentil.|Agradeço a ótima colaboração.|Valeu mesmo, tenha um bom dia!"),
		welcome: sl("De nada, foi um prazer!|Imagine, sempre às ordens.|Eu que agradeço a confiança.|Igualmente, tudo de bom!"),
		blocked: sl("Estou bloqueado: não tenho acesso.|Sem as credenciais não posso continuar.|Por favor, diga como devo proceder.|Continuo esperando a liberação do acesso."),
		remind:  sl("Por favor, continue a tarefa.|Você ainda não terminou. Continue.|Lembrete automático: continue até concluir a tarefa."),
		next:    sl("É com você, %s.|%s, assuma daqui, por favor.|Isto é assunto de %s, passo a vez."),
		settle:  sl("O resultado de %s continua o mesmo.|Como eu disse, %s está concluído.|Nada a acrescentar sobre %s.|Em resumo, %s está completo."),
	},
	{
		system:  sl("你是%s的助手，使用工具完成任务。|你为%s自主工作，任务完成之前不要停止。"),
		task:    sl("请处理%s，完成后告诉我。|请查明%s出了什么问题并修复。|我今天需要%s的结果。"),
		look:    sl("接下来看%s。|现在检查%s。"),
		open:    sl("好的。|让我看看。|明白。|嗯。||"),
		body:    sl("我现在尝试这一步。|我再执行一次。|这次应该可以。|下一步很清楚。|为了确认我重复一遍。|继续之前我需要这个结果。|也许只是暂时的故障。"),
		tail:    sl("之后就简单了。|然后可以继续。|不会花很长时间。|快完成了。|||"),
		claim:   sl("成功了。|这一步已经顺利完成。|很好，已经办好了。|页面已经接受了输入。"),
		missing: sl("找不到%s|不存在名为%s的文件|没有%s这条记录，请检查拼写。"),
		denied:  sl("权限不足：该账号不能执行此操作|访问被策略拒绝，请联系管理员"),
		invalid: sl("校验失败：字段“日期”必须是工作日|请求不符合格式：“项目”不能为空"),
		down:    sl("此环境中无法使用该服务|网络不可达"),
		thanks:  sl("非常感谢您的帮助！|再次感谢，您太客气了。|感谢您的大力支持。|谢谢，祝您一切顺利！"),
		welcome: sl("不客气，很高兴能帮到您！|这是我的荣幸。|也感谢您的配合。|祝您生活愉快！"),
		blocked: sl("我被卡住了：没有访问权限。|没有凭证我无法继续。|请告诉我下一步该怎么做。|我仍在等待开通权限。"),
		remind:  sl("请继续执行任务。|任务还没有完成，请继续。|自动提醒：请一直工作到任务完成。"),
		next:    sl("%s，接下来交给你。|这件事归%s负责，请继续。|请%s接手。"),
		settle:  sl("%s的结果仍然不变。|如前所述，%s已经完成。|关于%s没有要补充的。|总之，%s已经全部完成。"),
	},
	{
		system:  sl("あなたは%sのアシスタントです。ツールを使って作業します。|あなたは%sのために自律的に働きます。完了するまで止まらないでください。"),
		task:    sl("%sを処理して、終わったら知らせてください。|%sの問題を調べて直してください。|今日中に%sの結果が必要です。"),
		look:    sl("次に%sを見ます。|%sを確認します。"),
		open:    sl("はい。|なるほど。|了解しました。|では。||"),
		body:    sl("この手順を試します。|もう一度実行します。|今度はうまくいくはずです。|次の手順は明らかです。|念のため繰り返します。|先に進む前にこれが必要です。|一時的な不具合かもしれません。"),
		tail:    sl("あとは簡単です。|その後で先に進めます。|時間はかかりません。|もうすぐ終わります。|||"),
		claim:   sl("うまくいきました。|この手順は正常に完了しました。|これで完了です。|ページが入力を受け付けました。"),
		missing: sl("%sが見つかりません|%sというファイルは存在しません|%sは登録されていません。名前を確認してください。"),
		denied:  sl("権限がありません：このアカウントでは実行できません|アクセスがポリシーにより拒否されました"),
		invalid: sl("検証エラー：「日付」は営業日でなければなりません|リクエストの形式が不正です：「明細」は空にできません"),
		down:    sl("この環境ではサービスを利用できません|ネットワークに到達できません"),
		thanks:  sl("ご協力ありがとうございます！|重ねてお礼申し上げます。|大変助かりました、感謝いたします。|ありがとうございました、良い一日を！"),
		welcome: sl("どういたしまして。|お役に立ててうれしいです。|こちらこそありがとうございます。|またいつでもどうぞ。"),
		blocked: sl("作業が止まっています。アクセス権がありません。|認証情報がないため続けられません。|どのように進めればよいか教えてください。|まだ権限の付与を待っています。"),
		remind:  sl("作業を続けてください。|まだ終わっていません。続けてください。|自動通知：完了するまで作業を続けてください。"),
		next:    sl("%sさん、あとはお願いします。|これは%sさんの担当です。|%sさんに引き継ぎます。"),
		settle:  sl("%sの結果は変わりません。|先ほど述べたとおり%sは完了しています。|%sについて付け加えることはありません。|まとめると、%sはすべて終わりました。"),
	},
	{
		system:  sl("Ты помощник компании %s и работаешь с инструментами.|Ты самостоятельно работаешь на %s. Не останавливайся, пока задача не выполнена."),
		task:    sl("Займись %s и сообщи, когда будет готово.|Выясни, что не так с %s, и исправь.|Мне сегодня нужен результат по %s."),
		look:    sl("Теперь посмотрю %s.|Перехожу к %s."),
		open:    sl("Хорошо.|Посмотрим.|Понятно.|Так.||"),
		body:    sl("Попробую этот шаг.|Выполню ещё раз.|Теперь должно получиться.|Следующий шаг ясен.|Повторю для надёжности.|Это нужно, прежде чем идти дальше.|Возможно, это был временный сбой."),
		tail:    sl("Потом всё будет просто.|Затем можно продолжать.|Это недолго.|Мы почти у цели.|||"),
		claim:   sl("Получилось.|Шаг успешно выполнен.|Отлично, готово.|Страница приняла данные."),
		missing: sl("%s не найден|Файл с именем %s не существует|Записи %s нет. Проверьте написание."),
		denied:  sl("Доступ запрещён: у этой учётной записи нет прав|Операция запрещена политикой безопасности"),
		invalid: sl("Ошибка проверки: поле «дата» должно быть рабочим днём|Запрос не соответствует схеме: список «позиции» не может быть пустым"),
		down:    sl("Сервис недоступен в этой среде|Сеть недоступна"),
		thanks:  sl("Большое спасибо за помощь!|Ещё раз благодарю, вы очень добры.|Спасибо за прекрасное сотрудничество.|Благодарю, хорошего вам дня!"),
		welcome: sl("Пожалуйста, всегда рад помочь!|Мне было очень приятно.|И вам спасибо за доверие.|Взаимно, всего доброго!"),
		blocked: sl("Я заблокирован: у меня нет доступа.|Без учётных данных продолжать нельзя.|Подскажите, пожалуйста, как поступить.|Я всё ещё жду, когда откроют доступ."),
		remind:  sl("Пожалуйста, продолжай задачу.|Ты ещё не закончил. Продолжай.|Автоматическое напоминание: работай, пока задача не выполнена."),
		next:    sl("Передаю слово %s.|%s, дальше твоя очередь.|Это задача для %s, прошу продолжить."),
		settle:  sl("Результат по %s остаётся прежним.|Как я уже сказал, работа над %s завершена.|Добавить по %s нечего.|Итак, всё по %s сделано."),
	},
}

// sname puts a name into one of the texts.
func sname(w *words, texts []string, name string) string {
	return fmt.Sprintf(pick(w, texts...), name)
}
