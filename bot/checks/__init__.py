"""The checks that the doctor, the setup and the console use. Each examines one thing and says what is wrong with it."""
