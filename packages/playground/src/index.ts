export { createPlayground, type Playground, type PlaygroundOptions, playgroundFolder } from './playground.js'
