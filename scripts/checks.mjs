/** Every check that is not a test: its name and its command. */
export const CHECKS = [
  ['Types', ['node', 'scripts/typecheck.mjs']],
  ['Lint', ['oxlint', '--type-aware', '--deny-warnings']],
  ['Manifests and licences', ['node', 'scripts/check-manifests.mjs']],
  ['Import graph', ['depcruise', '--config', '.dependency-cruiser.cjs', 'packages', '--output-type', 'err']],
  ['Operations are mounted and documented', ['node', 'scripts/check-operations.mjs']],
  ['Files of one use', ['node', 'scripts/check-single-use.mjs']],
  ['Words', ['node', 'scripts/check-words.mjs', '--strict']],
  ['Exports and docstrings', ['node', 'scripts/check-exports.mjs']],
  ['Sizes of what pages load', ['node', 'scripts/size-report.mjs']],
  ['Regular expressions are linear', ['node', 'scripts/check-regexes.mjs']],
]
