-- Messages of chats that show a phone in somebody's hands: a reply to one is typed into the phone, and kept nowhere, also
-- when the phone is in nobody's hands any more.
CREATE TABLE hand_pictures (
    place TEXT NOT NULL,
    message TEXT NOT NULL,
    sent REAL NOT NULL,
    PRIMARY KEY (place, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX hand_pictures_by_age ON hand_pictures (sent);
