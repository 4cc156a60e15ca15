package scenarios

// madeHealthy are the behaviours that must not be stopped.
func madeHealthy() []Family {
	return join(hPolling(), hWaiting(), hPaging(), hBatches(), hActing(), hCoding(), hResearch(), hWorlds(),
		hPeople(), hShots(), hRecoveries(), hTeams())
}
