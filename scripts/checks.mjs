/**
 * Every check that is not a test: its name and its command; the longest first, so that none of them runs alone at the end.
 *
 * @param all With the lint rules that look at types, which take as long as all other checks together.
 */
export const checks = ({ all }) => [
  ['Regular expressions are linear', ['node', 'scripts/check-regexes.mjs']],
  ['Types', ['node', 'scripts/typecheck.mjs']],
  ['Import graph', ['depcruise', '--config', '.dependency-cruiser.cjs', 'packages', '--output-type', 'err']],
  [all ? 'Lint' : 'Lint, without types', ['oxlint', ...(all ? ['--type-aware'] : []), '--deny-warnings']],
  ['Manifests and licences', ['node', 'scripts/check-manifests.mjs']],
  ['Operations are mounted and documented', ['node', 'scripts/check-operations.mjs']],
  ['Files of one use', ['node', 'scripts/check-single-use.mjs']],
  ['Exports that nothing uses', ['node', 'scripts/check-unused-exports.mjs']],
  ['Words', ['node', 'scripts/check-words.mjs', '--strict']],
  ['Exports and docstrings', ['node', 'scripts/check-exports.mjs']],
  ['Sizes of what pages load', ['node', 'scripts/size-report.mjs']],
]
