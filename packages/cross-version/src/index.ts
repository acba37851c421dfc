export { crossVersion, type CrossVersionOptions, type CrossVersionRelease } from './cross-version.js'
