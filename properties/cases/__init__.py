"""Cases of laws and claims: how they are generated, written as JSON, checked and reduced."""
