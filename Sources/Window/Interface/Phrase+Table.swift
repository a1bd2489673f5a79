// One table for every text, English and German side by side; long because it is all of them.

extension Phrase {
  static let table: [Phrase: (english: String, german: String)] = [
    .title: ("Alina", "Alina"),
    .subtitle: ("a game for two voices", "ein Spiel für zwei Stimmen"),
    .xToMove: ("X to move", "X ist am Zug"),
    .oToMove: ("O to move", "O ist am Zug"),
    .yourMove: ("Your move", "Du bist dran"),
    .connectionLost: ("your opponent is away", "dein Gegner ist weg"),
    .reconnecting: ("trying to reconnect …", "neuer Versuch …"),
    .watching: ("you are watching", "du siehst zu"),
    .drawOffered: ("you offered a draw", "du hast Remis angeboten"),
    .drawOfferedYou: ("a draw is offered", "Remis wird angeboten"),
    .rematchAsked: ("you asked for a rematch", "du hast um Revanche gebeten"),
    .rematchWanted: ("your opponent wants a rematch", "dein Gegner möchte eine Revanche"),
    .mayClaim: (
      "your opponent is away: you can claim the win",
      "dein Gegner ist weg: Du kannst den Sieg beanspruchen"
    ),
    .claimIn: (
      "your opponent is away; you can claim the win in",
      "dein Gegner ist weg; den Sieg kannst du beanspruchen in"
    ),
    .xWins: ("X wins", "X gewinnt"),
    .oWins: ("O wins", "O gewinnt"),
    .youWin: ("You win", "Du gewinnst"),
    .youLose: ("You lose", "Du verlierst"),
    .draw: ("A draw", "Unentschieden"),
    .abandoned: ("Left unfinished", "Abgebrochen"),
    .byResignation: ("by resignation", "durch Aufgabe"),
    .onTime: ("on time", "durch Zeit"),
    .byAgreement: ("by agreement", "im Einvernehmen"),
    .byForfeit: ("by forfeit", "durch Regelbruch"),
    .newGame: ("New game", "Neues Spiel"),
    .rematch: ("Rematch", "Revanche"),
    .undo: ("Undo", "Zug zurück"),
    .redo: ("Redo", "Wieder vor"),
    .hint: ("Hint", "Rat"),
    .mute: ("Mute", "Ton aus"),
    .unmute: ("Unmute", "Ton an"),
    .start: ("Begin", "Beginnen"),
    .back: ("Back", "Zurück"),
    .menu: ("Menu", "Menü"),
    .review: ("Review", "Analyse"),
    .keep: ("Keep this piece", "Stück behalten"),
    .quit: ("Quit", "Beenden"),
    .listen: ("Watch and listen", "Zusehen und zuhören"),
    .resign: ("Resign", "Aufgeben"),
    .offerDraw: ("Offer a draw", "Remis anbieten"),
    .acceptDraw: ("Accept the draw", "Remis annehmen"),
    .declineDraw: ("Decline", "Ablehnen"),
    .agreeDraw: ("Agree on a draw", "Remis vereinbaren"),
    .claimWin: ("Claim the win", "Sieg beanspruchen"),
    .abortMatch: ("Cancel game", "Spiel abbrechen"),
    .acceptRematch: ("Play again", "Noch einmal"),
    .leaveMatch: ("Leave the match", "Spiel verlassen"),
    .you: ("you", "du"),
    .person: ("a person", "ein Mensch"),
    .level: ("level", "Stufe"),
    .random: ("random", "Zufall"),
    .perfect: ("perfect", "vollkommen"),
    .adaptive: ("Adapts to you", "Passt sich dir an"),
    .menace: ("matchboxes", "Zündholzschachteln"),
    .against: ("Against: Pip is the easiest, Alina never loses", "Gegen: Pip ist am leichtesten, Alina verliert nie"),
    .youPlay: ("You play", "Du spielst"),
    .playX: ("X, first", "X, zuerst"),
    .playO: ("O, second", "O, danach"),
    .clock: ("Time", "Zeit"),
    .noClock: ("as long as you like", "so lange du magst"),
    .minutes: ("min", "Min."),
    .manner1: (
      "has just learned the rules and likes every square", "hat gerade die Regeln gelernt und mag jedes Feld"
    ),
    .manner2: (
      "completes her lines, and sees yours when you have just drawn them",
      "vollendet ihre Reihen und sieht deine, wenn du sie eben gezogen hast"
    ),
    .manner3: (
      "watches the board, but not all of it at once", "beobachtet das Brett, aber nicht alles auf einmal"
    ),
    .manner4: (
      "rarely misses a line and begins to think of forks",
      "übersieht selten eine Reihe und beginnt an Gabeln zu denken"
    ),
    .manner5: ("plays a sound game and forgives little", "spielt solide und verzeiht wenig"),
    .manner6: (
      "never loses, and sets traps for those who hurry", "verliert nie und stellt denen Fallen, die eilen"
    ),
    .againstRandom: ("against random play", "gegen zufälliges Spiel"),
    .againstPerfect: ("against perfect play", "gegen vollkommenes Spiel"),
    .oddsWins: ("wins", "gewinnt"),
    .oddsDraws: ("draws", "remis"),
    .oddsLoses: ("loses", "verliert"),
    .adaptiveManner: (
      "Plays as well as you do: a little better after you win, a little worse after you lose.",
      "Spielt so gut wie du: etwas besser, wenn du gewinnst, etwas schlechter, wenn du verlierst."
    ),
    .menaceManner: (
      "A machine of matchboxes and beads that learns from every game it plays against you. Its beads are shown.",
      "Eine Maschine aus Zündholzschachteln und Perlen, die aus jedem Spiel gegen dich lernt. Man sieht ihre Perlen."
    ),
    .personManner: ("Two people at one machine, in turn.", "Zwei Menschen an einem Gerät, im Wechsel."),
    .network: ("Play over the network", "Über das Netz spielen"),
    .games: ("Saved games", "Gespeicherte Spiele"),
    .statistics: ("Statistics", "Statistik"),
    .help: ("What you are hearing", "Was du hörst"),
    .settings: ("Settings", "Einstellungen"),
    .easings: ("Curves of motion", "Bewegungskurven"),
    .analysis: ("Analysis", "Bewertung"),
    .hintWins: ("wins", "gewinnt"),
    .hintDraws: ("draws with best play", "Remis bei bestem Spiel"),
    .hintLoses: ("holds out longest", "hält am längsten stand"),
    .win: ("win", "Sieg"),
    .drawShort: ("draw", "remis"),
    .loss: ("loss", "Verlust"),
    .theme: ("Paper", "Papier"),
    .themeLight: ("day", "Tag"),
    .themeDark: ("night", "Nacht"),
    .themeContrast: ("high contrast", "hoher Kontrast"),
    .language: ("Language", "Sprache"),
    .textSize: ("Size of text", "Schriftgröße"),
    .motion: ("Motion", "Bewegung"),
    .motionFull: ("full", "voll"),
    .motionReduced: ("reduced", "vermindert"),
    .strip: ("The score under the board", "Noten unter dem Brett"),
    .shown: ("shown", "sichtbar"),
    .hidden: ("hidden", "verborgen"),
    .volume: ("Volume", "Lautstärke"),
    .drone: ("Drone volume", "Lautstärke des Grundtons"),
    .preview: ("Preview volume", "Lautstärke des Feldes unter dem Zeiger"),
    .off: ("off", "aus"),
    .reply: ("The opponent answers", "Der Gegner antwortet"),
    .replyMusical: ("in time with the music", "im Takt der Musik"),
    .replyImmediate: ("at once", "sofort"),
    .pace: ("Tempo", "Tempo"),
    .tuning: ("Tuning of A", "Kammerton A"),
    .piano: ("Piano", "Klavier"),
    .pianoModal: ("modelled", "modelliert"),
    .pianoGrand: ("sampled grand", "Flügel, gesampelt"),
    .grandElsewhere: (
      "The concert grand is in the window alone: its strings are too many for a page.",
      "Der Konzertflügel steht nur im Fenster: Für eine Seite hat er zu viele Saiten."
    ),
    .background: ("While the window is hidden", "Während das Fenster verborgen ist"),
    .backgroundFull: ("everything", "alles"),
    .backgroundDrone: ("the drone", "der Grundton"),
    .backgroundSilent: ("silence", "Stille"),
    .screenSize: ("Window", "Fenster"),
    .window: ("Windowed", "im Fenster"),
    .fullScreen: ("full screen", "ganzer Schirm"),
    .scoreRules: ("Music", "Musik"),
    .scoreMorning: ("morning", "Morgen"),
    .scoreNight: ("night", "Nacht"),
    .device: ("Sound device", "Tongerät"),
    .deviceStandard: ("System default", "Systemvorgabe"),
    .helpIntro: (
      "The game composes. Each of your moves begins a bar; the melody above walks by step, and a second voice "
        + "answers it with the three notes of one chord, like a small bell. Nothing is recorded: the music is made of "
        + "what happens on the board, and it is new each time.",
      "Das Spiel komponiert. Jeder Zug beginnt einen Takt; oben geht die Melodie in Schritten, und eine zweite Stimme "
        + "antwortet mit den drei Tönen eines Akkords, wie eine kleine Glocke. Nichts ist aufgenommen: Die Musik "
        + "entsteht aus dem, was auf dem Brett geschieht, jedes Mal neu."
    ),
    .helpSigns: ("Press a line to hear it.", "Drücke eine Zeile, um sie zu hören."),
    .helpKeys: ("Keys", "Tasten"),
    .helpKeysText: (
      "Arrows or h j k l and Enter choose a cell; the digits are a keypad, 7 8 9 on top. (In text notation cells count in "
        + "reading order, 1 2 3 on top.) Tab walks through every control, Esc goes back. N new game, R rematch, "
        + "Ctrl-Z and Ctrl-Y take back and play again, F2 hint, F3 analysis, S the score, M sound, + and - volume, "
        + "F1 this page, F5 reads the score rules again, Ctrl-S saves, Ctrl-O opens, Ctrl-C and Ctrl-V copy and paste a game, "
        + "F11 full screen, F12 picture, Ctrl-Q quits.",
      "Pfeile oder h j k l und Enter wählen ein Feld; die Ziffern sind ein Ziffernblock, 7 8 9 oben. (In der Notation "
        + "zählen die Felder in Leserichtung, 1 2 3 oben.) Tab geht durch alles, Esc zurück. N neues Spiel, R Revanche, "
        + "Strg-Z und Strg-Y zurück und wieder vor, F2 Rat, F3 Analyse, S die Noten, M Ton, + und - Lautstärke, "
        + "F1 diese Seite, F5 liest die Regeln neu, Strg-S speichert, Strg-O öffnet, Strg-C und Strg-V kopieren und fügen "
        + "ein Spiel ein, F11 ganzer Schirm, F12 Bild, Strg-Q beendet."
    ),
    .play: ("play", "spielen"),
    .signCells: ("Cells are pitches", "Felder sind Töne"),
    .whatCells: (
      "Height on the board is height in pitch. Both diagonals spell the chord, the centre is home, the edges are tension.",
      "Oben auf dem Brett ist oben im Klang. Beide Diagonalen sind der Akkord, die Mitte ist zu Hause, die Kanten sind "
        + "Spannung."
    ),
    .signOpening: ("The beginning", "Der Anfang"),
    .whatOpening: (
      "A low B in two octaves, then the note of the centre, then a short phrase that waits for you.",
      "Ein tiefes H in zwei Oktaven, dann der Ton der Mitte, dann eine kurze Phrase, die auf dich wartet."
    ),
    .signCalm: ("Calm", "Ruhe"),
    .whatCalm: (
      "The bell is the nearest chord tone below the melody.",
      "Die Glocke ist der nächste Akkordton unter der Melodie."
    ),
    .signThreat: ("A threat", "Eine Drohung"),
    .whatThreat: (
      "The melody leans on the edges, and the bell comes as near as it can: often only a second away.",
      "Die Melodie lehnt sich an die Kanten, die Glocke rückt so nah wie möglich: oft nur eine Sekunde entfernt."
    ),
    .signBothThreaten: ("Both threaten", "Beide drohen"),
    .whatBothThreaten: (
      "The bell leaps to its second place, now below, now above.",
      "Die Glocke springt auf ihren zweiten Platz, bald unten, bald oben."
    ),
    .signFork: ("A fork", "Eine Gabel"),
    .whatFork: ("A third, low voice holds F♯.", "Eine dritte, tiefe Stimme hält Fis."),
    .signBlock: ("A threat parried", "Abgewehrt"),
    .whatBlock: (
      "The second note lies a third lower, softer.", "Der zweite Ton liegt eine Terz tiefer, leiser."
    ),
    .signMistake: ("A mistake", "Ein Fehler"),
    .whatMistake: (
      "One soft glint of metal, and the melody turns.", "Ein leises metallisches Glänzen, und die Melodie kehrt um."
    ),
    .signOnlyMove: ("The only move", "Der einzige Zug"),
    .whatOnlyMove: ("The bell an octave higher.", "Die Glocke eine Oktave höher."),
    .signAwakening: ("The awakening", "Das Erwachen"),
    .whatAwakening: (
      "Once a game, when a win can no longer be prevented: the bell leaves the chord, C♯ under F♯, and a flower stands "
        + "on the staff.",
      "Einmal im Spiel, wenn ein Sieg nicht mehr zu verhindern ist: Die Glocke verlässt den Akkord, Cis unter Fis, und "
        + "auf den Linien steht eine Blume."
    ),
    .signWin: ("A win", "Ein Sieg"),
    .whatWin: (
      "The three notes of the line, a bell, and bars that grow shorter and rise to B.",
      "Die drei Töne der Linie, eine Glocke, und Takte, die kürzer werden und zum H steigen."
    ),
    .signLoss: ("A loss", "Eine Niederlage"),
    .whatLoss: (
      "The melody falls; the last bar is the bell's alone.", "Die Melodie fällt; der letzte Takt gehört der Glocke."
    ),
    .signDraw: ("A draw", "Ein Unentschieden"),
    .whatDraw: ("The last sound is open: B and F♯.", "Der letzte Klang ist offen: H und Fis."),
    .signEcho: ("Waiting", "Warten"),
    .whatEcho: (
      "Earlier bars again, half as loud, with longer and longer silences.",
      "Frühere Takte noch einmal, halb so laut, mit immer längerer Stille."
    ),
    .signUndo: ("A move taken back", "Ein zurückgenommener Zug"),
    .whatUndo: ("Its bar backwards, softly.", "Sein Takt rückwärts, leise."),
    .signRefused: ("A refused move", "Ein abgelehnter Zug"),
    .whatRefused: ("A damped knock without pitch.", "Ein gedämpftes Klopfen ohne Ton."),
    .replay: ("Review", "Analyse"),
    .atStart: ("The empty board.", "Das leere Brett."),
    .accuracy: ("Best moves", "Beste Züge"),
    .firstMistake: ("First mistake", "Erster Fehler"),
    .noMistake: ("No mistake was made.", "Kein Fehler wurde gemacht."),
    .playMusic: ("Play the music", "Musik abspielen"),
    .stopMusic: ("Stop", "Halt"),
    .factWins: ("wins the game", "gewinnt das Spiel"),
    .factDraws: ("fills the board", "füllt das Brett"),
    .factMistake: ("a mistake", "ein Fehler"),
    .factFork: ("a fork: two threats at once", "eine Gabel: zwei Drohungen zugleich"),
    .factBlock: ("parries a threat", "wehrt eine Drohung ab"),
    .factThreat: ("threatens", "droht"),
    .factOnly: ("every other move was worse", "jeder andere Zug war schlechter"),
    .factAwakening: ("from here a win can no longer be prevented", "von hier ist ein Sieg nicht mehr zu verhindern"),
    .factBetter: ("better was", "besser war"),
    .noReplay: ("No game is open.", "Kein Spiel ist offen."),
    .position: ("A position.", "Eine Stellung."),
    .playOn: ("Continue as a new game", "Als neues Spiel fortsetzen"),
    .pathField: ("File to open", "Zu öffnende Datei"),
    .noGames: (
      "No game has been saved yet. Every game you begin is kept here by itself.",
      "Noch ist kein Spiel gespeichert. Jedes begonnene Spiel wird hier von selbst bewahrt."
    ),
    .open: ("Open", "Öffnen"),
    .save: ("Save this game", "Dieses Spiel sichern"),
    .copy: ("Copy", "Kopieren"),
    .paste: ("Paste", "Einfügen"),
    .share: ("Give the link", "Link weitergeben"),
    .shareMatch: ("Have others watch", "Andere zusehen lassen"),
    .youWon: ("you won", "du hast gewonnen"),
    .hasWon: ("won", "hat gewonnen"),
    .drawn: ("a draw", "unentschieden"),
    .unfinished: ("not finished", "nicht beendet"),
    .savedAs: ("Saved as", "Gesichert als"),
    .saveFailed: ("The game could not be saved.", "Das Spiel konnte nicht gesichert werden."),
    .keeping: ("The piece is being written down …", "Das Stück wird aufgeschrieben …"),
    .keptIn: ("Sound, notes and a printed page are in", "Klang, Noten und eine gedruckte Seite liegen in"),
    .pictureAs: ("Picture saved as", "Bild gesichert als"),
    .pictureFailed: ("The picture could not be written:", "Das Bild konnte nicht geschrieben werden:"),
    .copied: ("Copied.", "Kopiert."),
    .clipboardEmpty: ("Nothing has been copied yet.", "Noch ist nichts kopiert."),
    .soundBack: ("The sound is back.", "Der Ton ist wieder da."),
    .soundWaits: ("The first touch begins the music.", "Die erste Berührung beginnt die Musik."),
    .soundNone: (
      "No sound device was found: the music plays in silence.", "Kein Tongerät gefunden: Die Musik spielt in Stille."
    ),
    .soundImpossible: (
      "This browser plays no sound of ours, which needs AudioWorklet and a safe address: the music plays in silence.",
      "Dieser Browser spielt unseren Ton nicht; er braucht AudioWorklet und eine sichere Adresse: Die Musik spielt in Stille."
    ),
    .soundLost: (
      "The sound device is gone: the music plays on in silence.",
      "Das Tongerät ist fort: Die Musik spielt still weiter."
    ),
    .rulesRead: ("Music:", "Musik:"),
    .noStatistics: (
      "Nothing to count yet. Finish a game and come back.",
      "Noch nichts zu zählen. Beende ein Spiel und komm wieder."
    ),
    .gamePlayed: ("game", "Spiel"),
    .gamesPlayed: ("games", "Spiele"),
    .wins: ("won", "gewonnen"),
    .draws: ("drawn", "remis"),
    .losses: ("lost", "verloren"),
    .asX: ("as X", "als X"),
    .asO: ("as O", "als O"),
    .openings: ("Where you began, and how it went", "Wo du begannst, und wie es ausging"),
    .course: ("Your results as a melody: high is a win", "Deine Ergebnisse als Melodie: hoch ist ein Sieg"),
    .streak: ("Wins in a row, now and at best", "Siege in Folge, jetzt und höchstens"),
    .serverAddress: ("Server", "Server"),
    .connect: ("Connect", "Verbinden"),
    .connecting: ("Looking for the server …", "Suche den Server …"),
    .lobby: ("Connected.", "Verbunden."),
    .quickMatch: ("Quick match", "Schnelles Spiel"),
    .openRoom: ("Open a room for a friend", "Einen Raum für Freunde öffnen"),
    .roomCode: ("Code of a friend's room", "Code eines anderen Raumes"),
    .join: ("Join room", "Raum betreten"),
    .queued: ("Waiting for someone to come …", "Warte, bis jemand kommt …"),
    .roomIs: ("Your room. Tell your friend this code:", "Dein Raum. Sag den anderen diesen Code:"),
    .watchMatch: ("Watch", "Zusehen"),
    .matches: ("Games being played", "Laufende Spiele"),
    .disconnect: ("Disconnect", "Verbindung trennen"),
    .inMatch: ("You are in a game; the board shows it.", "Du bist in einem Spiel; das Brett zeigt es."),
    .networkIntro: (
      "Two machines, one piece of music: the server keeps the rules, and each move sounds on both sides.",
      "Zwei Geräte, ein Stück Musik: Der Server wacht über die Regeln, und jeder Zug klingt auf beiden Seiten."
    ),
    .yourName: ("Your name there", "Dein Name dort"),
    .registerName: ("Register this name", "Diesen Namen registrieren"),
    .counts: ("The game, for its own sake or for the rating", "Das Spiel, für sich selbst oder für die Wertung"),
    .countsRated: ("rated", "mit Wertung"),
    .countsNot: ("not rated", "ohne Wertung"),
    .playBot: ("Play a bot instead", "Lieber gegen ein Programm spielen"),
    .youAre: ("You are", "Du bist"),
    .guest: ("guest", "Gast"),
    .noMatches: ("Nobody is playing just now.", "Gerade spielt niemand."),
    .writeAddress: ("%: write HOST or HOST:PORT", "%: schreib RECHNER oder RECHNER:PORT"),
    .wasReported: ("% was reported to the server's keepers", "% wurde den Hütern des Servers gemeldet"),
    .restarting: (
      "The server is about to restart; the game goes on after that",
      "Der Server startet gleich neu; das Spiel geht danach weiter"
    ),
    .finishFirst: (
      "You are in a match: finish or resign it first", "Du bist in einem Spiel: Beende es oder gib es zuerst auf"
    ),
    .nextTry: ("%; next try in % s", "%; nächster Versuch in % s"),
    .unreachable: ("% cannot be reached", "% ist nicht zu erreichen"),
    .silent: ("the server has been silent", "der Server schweigt"),
    .wordless: (
      "the server closed without a word: perhaps it wants a protected connection, or is none of ours",
      "der Server hat wortlos aufgelegt: Vielleicht will er eine geschützte Verbindung, oder er ist keiner von unseren"
    ),
    .connectionGone: ("the connection was lost", "die Verbindung ging verloren"),
    .comeBack: ("the server asks to come back in a moment", "der Server bittet, gleich wiederzukommen"),
    .otherVersion: (
      "The server speaks version %, this program %. Update the older of the two.",
      "Der Server spricht Version %, dieses Programm %. Erneuere das ältere von beiden."
    ),
    .notSecure: (
      "No protected connection: %. Check the address, or ask whoever keeps the server.",
      "Keine geschützte Verbindung: %. Prüfe die Adresse, oder frag, wer den Server betreut."
    ),
    .untrusted: ("nobody vouches for the certificate", "für das Zertifikat bürgt niemand"),
    .noTLS: ("what answers there offers none", "was dort antwortet, bietet keine an"),
    .otherCertificate: (
      "This is not the server you knew: it shows another certificate (%…). Ask its owner before you go on.",
      "Das ist nicht der Server, den du kanntest: Er zeigt ein anderes Zertifikat (%…). Frag erst, wem er gehört."
    ),
    .replaced: (
      "You are connected from somewhere else. Close the other window, or connect again to play here.",
      "Du bist von anderswo verbunden. Schließe das andere Fenster, oder verbinde dich neu, um hier zu spielen."
    ),
    .notAccepted: (
      "The server does not know this session any more. Connect again as a guest, or with your token.",
      "Der Server kennt diese Sitzung nicht mehr. Verbinde dich neu, als Gast oder mit deinem Schlüssel."
    ),
    .banned: (
      "This account is banned on this server. Ask its administrator.",
      "Dieses Konto ist auf diesem Server gesperrt. Frag, wer ihn betreut."
    ),
    .ended: ("The server ended the connection: %. Connect again.", "Der Server hat aufgelegt: %. Verbinde dich neu."),
    .notOurs: (
      "What answers there is no match server. Check the address and the port.",
      "Was dort antwortet, ist kein Spielserver. Prüfe Adresse und Port."
    ),
    .endedMalformed: ("what it was sent were no messages", "was er bekam, waren keine Nachrichten"),
    .endedFlood: ("too many messages", "zu viele Nachrichten"),
    .errBadRequest: ("The server did not understand that", "Das hat der Server nicht verstanden"),
    .errVersion: ("The server speaks another version", "Der Server spricht eine andere Version"),
    .errAuth: ("The server does not know you; connect again", "Der Server kennt dich nicht; verbinde dich neu"),
    .errNotFound: ("There is no such match or player", "Dieses Spiel oder diesen Menschen gibt es dort nicht"),
    .errNoMatch: ("You are in no match, or in several", "Du bist in keinem Spiel oder in mehreren"),
    .errForbidden: ("That is not yours to do", "Das steht dir nicht zu"),
    .errStalePly: ("This move was made already", "Dieser Zug ist schon gemacht"),
    .errMidReused: ("This was sent before as something else", "Das wurde schon als etwas anderes gesendet"),
    .errRules: ("The rules do not allow it", "Die Regeln erlauben es nicht"),
    .errOver: ("The match is over", "Das Spiel ist vorbei"),
    .errOccupied: ("You wait or sit at a board already", "Du wartest schon oder sitzt schon am Brett"),
    .errCode: ("This code is wrong, used or expired", "Dieser Code ist falsch, verbraucht oder abgelaufen"),
    .errName: (
      "This name cannot be had: it is taken or reserved, or not 3 to 20 letters and digits",
      "Dieser Name geht nicht: Er ist vergeben, oder es sind nicht 3 bis 20 Buchstaben und Ziffern"
    ),
    .errRate: ("Too many tries; wait a little", "Zu viele Versuche; warte ein wenig"),
    .errBusy: (
      "The server is busy; try again in a moment", "Der Server hat zu viel zu tun; versuch es gleich noch einmal"
    ),
    .errMuted: ("You may not talk here", "Du darfst hier nicht sprechen"),
    .errDraining: ("The server is stopping; come back later", "Der Server hält an; komm später wieder"),
    .talk: ("Talk", "Gespräch"),
    .say: ("Say something", "Etwas sagen"),
    .talkIntro: ("Nothing has been said yet.", "Noch wurde nichts gesagt."),
    .muteTalk: ("Mute the talk", "Gespräch stumm"),
    .unmuteTalk: ("Unmute the talk", "Gespräch hören"),
    .block: ("Block", "Blockieren"),
    .unblock: ("Unblock", "Nicht mehr blockieren"),
    .report: ("Report", "Melden"),
    .emoteHi: ("Hello", "Hallo"),
    .emoteGl: ("Good luck", "Viel Glück"),
    .emoteGg: ("Good game", "Gutes Spiel"),
    .emoteThx: ("Thanks", "Danke"),
    .emoteWow: ("Oh!", "Ach!"),
    .emoteOops: ("Oops", "Hoppla"),
    .speakPlays: ("plays", "spielt"),
    .speakEmpty: ("empty", "leer"),
    .blockPoem: ("meet no more", "nie mehr begegnen"),
    .muteTalkPoem: ("hear nothing", "nichts hören"),
    .declineDrawPoem: ("play on", "weiterspielen"),
    .nothingToUndo: ("There is no move to take back.", "Es gibt keinen Zug zurückzunehmen."),
    .nothingToRedo: ("There is no move to play again.", "Es gibt keinen Zug wieder vorzuspielen."),
    .nothingToKeep: ("There is no piece yet: make a move first.", "Noch gibt es kein Stück: Mach erst einen Zug."),
    .gameIsOver: ("This game is over.", "Dieses Spiel ist vorbei."),
    .gameRuns: ("This game is not over yet.", "Dieses Spiel ist noch nicht vorbei."),
    .answerIsDue: (
      "The answer comes in time with the music; then it is your turn.",
      "Die Antwort kommt im Takt der Musik; dann bist du dran."
    ),
    .notYourTurn: ("It is not your turn yet.", "Du bist noch nicht dran."),
    .cellTaken: ("This cell is taken.", "Dieses Feld ist besetzt."),
    .onlyWatching: ("You are only watching.", "Du siehst nur zu."),
    .onlyListening: (
      "You are listening; begin a new game to play.",
      "Du hörst zu; zum Spielen beginne ein neues Spiel."
    ),
    .rematchTooLate: ("It is too late for a rematch.", "Für eine Revanche ist es zu spät."),
    .tooLateToAbort: (
      "Both have moved: the match can only be resigned.",
      "Beide haben gezogen: Das Spiel kann man nur noch aufgeben."
    ),
    .noMoreOffers: ("No draw can be offered now.", "Jetzt kann kein Remis angeboten werden."),
    .noOffer: ("No draw is offered.", "Kein Remis ist angeboten."),
    .nobodyAway: ("Your opponent is here.", "Dein Gegner ist da."),
    .playsOn: ("Your opponent plays on.", "Dein Gegner spielt weiter."),
    .notConnected: ("You are not connected to a server.", "Du bist mit keinem Server verbunden."),
    .stillConnecting: ("The server is still being looked for.", "Der Server wird noch gesucht."),
    .notWaiting: ("You are not waiting for anybody.", "Du wartest auf niemanden."),
    .nobodyToTalkTo: ("There is nobody to talk to.", "Da ist niemand zum Reden."),
    .writeSomeAddress: ("Write the address of a server first.", "Schreib erst die Adresse eines Servers."),
    .writeCode: ("A code has six letters and digits.", "Ein Code hat sechs Buchstaben und Ziffern."),
    .reallyResign: (
      "Press Resign once more to give this match up.", "Noch einmal Aufgeben, um dieses Spiel zu verlieren."
    ),
    .reallyDelete: ("Once more to delete this game for good.", "Noch einmal, um dieses Spiel für immer zu löschen."),
    .sentLater: ("It is sent when the server is back.", "Es wird gesendet, wenn der Server wieder da ist."),
    .reconnectingOrLeave: (
      "trying to reconnect; you can also leave the match",
      "neuer Versuch; du kannst das Spiel auch verlassen"
    ),
    .firstMoveIn: ("make your first move within % s", "mach deinen ersten Zug binnen % s"),
    .wasCalledOff: ("it was called off", "es wurde abgesagt"),
    .nobodyBegan: ("the first move did not come in time", "der erste Zug kam nicht rechtzeitig"),
    .closeRoom: ("Close the room", "Raum schließen"),
    .stopWaiting: ("Stop waiting", "Nicht mehr warten"),
    .host: ("Play with somebody here", "Mit jemandem hier spielen"),
    .hostIs: ("Your friend connects to:", "Die anderen verbinden sich mit:"),
    .hostFailed: ("No server could be started on this machine.", "Auf diesem Gerät ließ sich kein Server starten."),
    .openPieces: ("Kept pieces", "Behaltene Stücke"),
    .deleted: ("Deleted.", "Gelöscht."),
    .thinking: ("% is thinking", "% überlegt"),
    .waitingFor: ("Waiting for %", "Warte auf %"),
    .offline: ("Connection lost", "Verbindung verloren"),
    .seeWhy: ("See why", "Warum?"),
    .stopListening: ("Stop", "Halt"),
    .notListening: ("Nobody plays alone just now.", "Gerade spielt niemand allein."),
    .gameResumed: ("Your unfinished game goes on.", "Dein angefangenes Spiel geht weiter."),
    .playFriend: ("Play a friend", "Mit Freunden spielen"),
    .resuming: ("Back to your match", "Zurück zu deinem Spiel"),
    .matchEnded: ("Your match has ended meanwhile.", "Dein Spiel ist inzwischen zu Ende."),
    .reallyLeave: (
      "You are in a match. Go back once more to leave it.", "Du bist in einem Spiel. Noch einmal zurück, um zu gehen."
    ),
    .player: ("Player", "Spieler"),
    .yourMoveTitle: ("Your move – Alina", "Du bist dran – Alina"),
  ]
}
