import { fileURLToPath } from 'node:url'

/** The folder with the sample content. This file is directly in `src`, so that the path is right from `dist` too. */
export const SAMPLE_FOLDER: string = fileURLToPath(new URL('../sample', import.meta.url))
