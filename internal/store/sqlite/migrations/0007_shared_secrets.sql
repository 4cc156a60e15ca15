-- What all nodes have in common, made by the first of them.
CREATE TABLE shared_secrets (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
