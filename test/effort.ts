/** True for `npm run test:all` and for tests that are asked for by name; false for `npm test`, which is to be quick. */
export const ALL: boolean = process.env['FHIR_OPS_TESTS'] !== 'quick'

/** Repetitions of a test that finds more the longer it runs. `FHIR_OPS_ROUNDS` sets them for every such test. */
export function rounds({ quick, all }: { readonly quick: number; readonly all: number }): number {
  return Number(process.env['FHIR_OPS_ROUNDS'] ?? (ALL ? all : quick))
}

/** Seed of all random content of this run: 1 unless `FHIR_OPS_SEED` says otherwise. */
export const SEED: number = Number(process.env['FHIR_OPS_SEED'] ?? 1)
