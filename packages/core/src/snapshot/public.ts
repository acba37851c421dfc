export { generateSnapshot, type SnapshotInput, type SnapshotResult } from './generate-snapshot.js'
export type { SnapshotProblem, SnapshotProblemKind } from './building.js'
