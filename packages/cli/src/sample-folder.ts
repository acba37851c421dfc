import { fileURLToPath } from 'node:url'

/** Where the sample content lies; beside `dist` as beside `src`. */
export const SAMPLE_FOLDER: string = fileURLToPath(new URL('../sample', import.meta.url))
