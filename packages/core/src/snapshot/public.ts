export { generateSnapshot, type SnapshotInput, type SnapshotResult } from './generate-snapshot.js'
