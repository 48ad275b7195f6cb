"""The models of the API's requests and answers, from which its OpenAPI document is generated."""
