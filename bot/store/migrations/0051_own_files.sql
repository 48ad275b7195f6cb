-- Who has handed in which file: it is taken for a task of theirs, and of nobody who only knows its reference.
CREATE TABLE handed_in (
    content TEXT NOT NULL,
    person_platform TEXT NOT NULL,
    person_id TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (content, person_platform, person_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX handed_in_by_age ON handed_in (at);
-- Whose steps show a picture. Twelve of 64 digits find the row, in a fifth of the room.
CREATE INDEX steps_frame ON steps (substr(frame, 1, 12)) WHERE frame IS NOT NULL;
