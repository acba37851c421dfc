export { generateSnapshot, type SnapshotInput, type SnapshotResult } from './generate-snapshot.js'
export { buildSnapshot, type BuiltSnapshot } from './build-snapshot.js'
export type { SnapshotProblem, SnapshotProblemKind, SnapshotSource } from './building.js'
export { snapshotOperation } from './operation.js'
