"""The checks behind the doctor, the setup and the console; each examines one thing and says what is wrong with it."""
