import fc from 'fast-check'
import { SEED } from './effort.js'

// Properties draw the same content in every run with the same seed.
fc.configureGlobal({ seed: SEED })
