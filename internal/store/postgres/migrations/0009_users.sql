-- People who sign in by name and password; name is in lower case, password
-- salted and hashed, body a haltd.User.
CREATE TABLE users (
    no       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    name     TEXT NOT NULL UNIQUE,
    password TEXT NOT NULL,
    body     TEXT NOT NULL
);
