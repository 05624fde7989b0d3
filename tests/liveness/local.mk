# Ranks that go away.
tap_tests += %D%/ends.tap
