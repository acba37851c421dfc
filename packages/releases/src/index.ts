export {
  counted,
  readMeter,
  type ReadMeter,
  releaseFiles,
  type ReleaseFile,
  releaseLines,
  type ReleaseLine,
  versionInPath,
} from './release-file.js'
export { csvRows, type CsvRow } from './csv.js'
export { scratchIn, type Scratch, untakenRows } from './scratch.js'
export { inWork, openWork, type ImportWork, type WorkOptions, type ImportSource } from './work.js'
