"""Who signs up, when, from where, and whether they confirm: one function for each family. `robots`
are crude attacks, `experts` those of somebody who read everything, `rivals` attack an honest
partner, and `readers` are honest.
"""
