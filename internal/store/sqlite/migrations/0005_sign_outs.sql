-- Cookies of browsers that were signed out, by digest, until they would have
-- ended by themselves.
CREATE TABLE sign_outs (
    digest TEXT    NOT NULL PRIMARY KEY,
    until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
