export { generateSnapshot, type SnapshotInput, type SnapshotResult } from './generate-snapshot.js'
export type { SnapshotProblem } from './building.js'
