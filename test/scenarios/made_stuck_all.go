package scenarios

// madeStuck are the behaviours that get nowhere: from loop() on, nothing new
// comes of them, and a reader would stop them.
func madeStuck() []Family {
	return join(madeStuckRepeats(), madeStuckCycles(), madeStuckErrors(), madeStuckResults(), madeStuckEffects(), madeStuckPages(), madeStuckChatter(),
		madeStuckWaiting(), madeStuckRefusals(), madeStuckMemory(), madeStuckText())
}
