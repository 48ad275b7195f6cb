"""What programs send and get. The API's document is made from these."""
