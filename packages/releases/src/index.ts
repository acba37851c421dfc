export {
  counted,
  readMeter,
  type ReadMeter,
  releaseFiles,
  type ReleaseFile,
  releaseLines,
  type ReleaseLine,
  versionInPath,
  csvRows,
  type CsvRow,
} from './release-file.js'
export { scratchIn, type Scratch, untakenRows, inWork, openWork, type ImportWork, type WorkOptions, type ImportSource } from './work.js'
