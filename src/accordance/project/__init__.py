"""The project folder, its settings and the policy it judges by."""
