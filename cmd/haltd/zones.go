package main

// Time zones of policies are known also where the system has none, as in
// minimal containers.
import _ "time/tzdata"
