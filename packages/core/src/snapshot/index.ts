export { generateSnapshot, type SnapshotInput, type SnapshotResult, buildSnapshot, type BuiltSnapshot } from './generate-snapshot.js'
export type { SnapshotProblem, SnapshotProblemKind, SnapshotSource } from './element-tree.js'
