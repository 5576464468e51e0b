"""An open benchmark of referral fraud: honest people and robots sign up at the real forms, and a
report says what the robots were paid and which honest people were not paid for.
"""
