import TicTacToe

/// The key of a text in the folder `Words`.
package enum Phrase: String, Sendable, Hashable, CaseIterable {
  case languageName, decimalSign, controlKey
  case title, subtitle
  case xToMove, oToMove, yourMove, connectionLost, reconnecting, watching
  case drawOffered, drawOfferedYou, rematchAsked, rematchWanted, rematchWithin, mayClaim, claimIn
  case xWins, oWins, youWin, youLose, draw, abandoned
  case byResignation, onTime, byAgreement, byForfeit
  case newGame, rematch, undo, redo, hint, mute, unmute, start, back, menu, review, keep, quit, listen
  case resign, offerDraw, acceptDraw, declineDraw, agreeDraw, claimWin, abortMatch, acceptRematch, leaveMatch
  case you, person, level, random, perfect, adaptive, menace
  case against, youPlay, playX, playO, clock, noClock, minutes
  case adaptiveManner, menaceManner, personManner
  case manner1, manner2, manner3, manner4, manner5, manner6
  case againstRandom, againstPerfect, oddsWins, oddsDraws, oddsLoses
  case network, games, statistics, help, settings, analysis
  case hintWins, hintDraws, hintLoses, win, drawShort, loss
  case theme, themeLight, themeDark, themeContrast, language, textSize, motion, motionFull, motionReduced
  case strip, coordinates, shown, hidden, volume, drone, preview, off, reply, replyMusical, replyImmediate, pace, tuning
  case loudness, loudnessEven, loudnessConcert
  case piano, pianoModal, pianoGrand, background, backgroundFull, backgroundDrone, backgroundSilent
  case screenSize, window, fullScreen, scoreRules, scoreMorning, scoreNight, device, deviceStandard
  case helpIntro, helpSigns, helpKeys, helpKeysText
  case signCells, signOpening, signCalm, signThreat, signBothThreaten, signFork, signBlock, signMistake, signOnlyMove
  case signAwakening, signWin, signLoss, signDraw, signEcho, signUndo, signRefused
  case signAgain, signBoard, signFullBoard, signForced
  case whatCells, whatOpening, whatCalm, whatThreat, whatBothThreaten, whatFork, whatBlock, whatMistake, whatOnlyMove
  case whatAwakening, whatWin, whatLoss, whatDraw, whatEcho, whatUndo, whatRefused
  case whatAgain, whatBoard, whatFullBoard, whatForced
  case atStart, accuracy, firstMistake, noMistake, playMusic, stopMusic
  case factWins, factLoses, factDraws, factMistake, factFork, factBlock, factThreat, factOnly, factAwakening, factBetter
  case noReplay, position, playOn
  case pathField, noGames, olderGames, open, save, copy, paste, share, shareMatch, youWon, hasWon, drawn, unfinished
  case savedAs, saveFailed, keeping, keptIn, film, stopFilm, filmIn, filmShape, filmWide, filmSquare, filmUpright
  case pictureAs, writeFailed, copied, copyFailed, clipboardEmpty, notRemembered, trapped, reload
  case noRoom, notAllowed, settingsFailed, nothingKept, unreadable, unreadableLine, setAside, otherWindow, needsFFmpeg
  case soundWaits, soundBack, soundNone, soundImpossible, soundLost, rulesRead
  case noStatistics, gamePlayed, gamesPlayed, wins, draws, losses, asX, asO, openings, course, streak
  case serverAddress, connect, connecting, lobby, quickMatch, openRoom, roomCode, join, queued, roomIs, watchMatch
  case matches, disconnect, inMatch, networkIntro, yourName, token, registerName, countsRated, countsNot, counts,
    playBot
  case youAre, guest, noMatches, roomSide, eitherSide
  case writeAddress, wasReported, restarting, finishFirst, nextTry
  case unreachable, silent, wordless, connectionGone, comeBack
  case otherVersion, notSecure, untrusted, noTLS, otherCertificate, replaced, notAccepted, newGuest, loginRefused,
    tokenRefused, roomClosed, noTLSHere, banned, ended
  case endedMalformed, endedFlood, notOurs
  case errBadRequest, errVersion, errAuth, errNotFound, errNoMatch, errForbidden, errStalePly, errMidReused, errRules
  case errOver, errOccupied, errCode, errName, errRate, errBusy, errMuted, errDraining
  case talk, say, talkIntro, muteTalk, unmuteTalk, block, unblock, report
  case blockSubtitle, muteTalkSubtitle, declineDrawSubtitle
  case emoteHi, emoteGl, emoteGg, emoteThx, emoteWow, emoteOops
  case speakPlays, speakEmpty, speakInBoard, speakInAnyBoard, speech, speechOn
  case answerIsDue
  case nothingToUndo, nothingToRedo, nothingToKeep, gameIsOver, gameRuns, notYourTurn, cellTaken, onlyWatching
  case onlyListening, rematchTooLate, tooLateToAbort, noMoreOffers, noOffer, nobodyAway, playsOn, notConnected
  case stillConnecting, notWaiting, nobodyToTalkTo, writeSomeAddress, writeCode, reallyResign, reallyDelete, sentLater
  case reconnectingOrLeave, firstMoveIn, wasCalledOff, nobodyBegan, closeRoom, stopWaiting
  case host, hostIs, hostFailed, openPieces, deleted
  case moreWords, renameGame, gameName, deleteGame
  case resuming, matchEnded, reallyLeave, player, yourMoveTitle
  case today, todayWin, todayWinNow, todayHold, solved, notSolved, tryAgain, daysInARow, shareToday
  case explain, explainFirst, explainNever, explainAgain
  case game, classic, infinite, misere, ultimate, classicManner, infiniteManner, misereManner, ultimateManner, rules
  case infiniteRule1, infiniteRule2, infiniteRule3, ultimateRule1, ultimateRule2, ultimateRule3
  case speakBoard, speakCell, speakSends, speakSendsAnywhere, speakEnds, speakGoes, speakWon, otherBoard
  case believed, hintBelieved, factGone, factBoard, factShare, lostMost, lostLittle, reviewing, expected
  case thinking, waitingFor, offline, seeWhy, stopListening, notListening, gameResumed, playFriend

  case playByLink, letters, lettersIntro, letterSend, letterField, letterWords, letterSendIt
  case letterMarked, letterOld, letterFork, letterDamaged, letterFirst, letterHere, letterThere
  case withdrawDraw
  case ownMusic, ownMusicIntro, hearIt, useMusic, musicFile, resetMusic, musicCount, musicNumber, musicBase
  case dialShort, dialLong, dialLongest, dialPhrases, dialFamiliar, dialLeap, dialTension, dialMelody, dialDrone
  case dialReverb
  case sleep, sleepSet, sleepOff, touchBoard, touchHint
  case another, sprint, sprintState, sprintOver, answerPlays, puzzleRating
  case premoveSet, premoveGone, premoveIllegal, speakPremove
  case tournament, tournamentIntro, tournamentName, tournamentCode, tournamentLength, tournamentMake, tournamentEnter
  case tournamentPause, tournamentPlay, tournamentTop, tournamentSave, tournamentEnd, tournamentLeave, tournamentRemove
  case tournamentPlayers, tournamentStartsIn, tournamentLeft, tournamentLastGames, tournamentOver, tournamentFull
  case tournamentRow, tournamentPlace, tournamentFire, tournamentIsPaused, tournamentHasLeft, tournamentNext
  case tournamentPaused, reallyEnd, tournamentBots, tournamentPeople, tournamentAnybody
  case tournamentStart, tournamentByHand, tournamentInMinutes, tournamentSaveGames, tournamentSaving
  case tournamentAdmit, tournamentIsRemoved

  package func text(in language: Language) -> String { language.words.texts[self] ?? rawValue }

  /// The text with the values in place of its `%` signs, in order.
  package func text(in language: Language, _ values: [String]) -> String {
    let pieces = text(in: language).split(separator: "%", omittingEmptySubsequences: false)
    precondition(
      pieces.count == values.count + 1, "\(rawValue) has places for \(pieces.count - 1) values, not \(values.count)")
    return zip(pieces, values + [""]).map { $0 + $1 }.joined()
  }
}

extension String {
  /// Replaces every `old` by `new`; `old` must not be empty.
  package func replacing(_ old: String, by new: String) -> String {
    let (text, old) = (Array(utf8), Array(old.utf8))
    var result: [UInt8] = []
    var index = 0
    while index < text.count {
      if text[index...].starts(with: old) {
        result += new.utf8
        index += old.count
      } else {
        result.append(text[index])
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}

extension Variant {
  package var phrase: Phrase {
    switch self {
    case .classic: .classic
    case .infinite: .infinite
    case .misere: .misere
    case .ultimate: .ultimate
    }
  }
}
