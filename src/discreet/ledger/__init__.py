"""The record of earlier releases, kept by the publisher and never published."""
