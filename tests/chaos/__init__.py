"""Faults on real parts: workers, databases, disks and stores that fail while a plan is carried out."""
