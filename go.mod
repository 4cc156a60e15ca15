module github.com/haltd/haltd

go 1.26
