"""The dashboard's other half: publications and their programs, the network, earnings, payouts, and the administrator's pages."""
