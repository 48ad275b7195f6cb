-- What the words of a recorded skill are called on phones with another locale, as JSON by the folded recorded word.
CREATE TABLE skill_names (
    skill TEXT NOT NULL,
    locale TEXT NOT NULL,
    names TEXT NOT NULL,
    PRIMARY KEY (skill, locale)
);
