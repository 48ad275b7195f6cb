"""Tasks at set times: what a rule means, what is planned, and who gives the tasks when their time has come."""
