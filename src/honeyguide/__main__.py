from honeyguide.cli import main

main()
