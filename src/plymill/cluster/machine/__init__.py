"""What happens in a run and what is to be done about it: pure states, without files and Ray."""
