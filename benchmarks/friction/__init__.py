"""Does the choice of friction terms find what joints have, and nothing else?"""
