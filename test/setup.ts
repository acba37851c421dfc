import fc from 'fast-check'
import { rounds, SEED } from './effort.js'

// Properties draw the same content in every run with the same seed.
fc.configureGlobal({ seed: SEED, numRuns: rounds({ quick: 30, all: 100 }) })
