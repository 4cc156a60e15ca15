-- The price table that an operator has loaded, as the file had it.
CREATE TABLE price_file (
    no   INTEGER PRIMARY KEY CHECK (no = 1),
    body TEXT NOT NULL
) STRICT;
