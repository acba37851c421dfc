export {
  configureServer,
  type ServerTimeouts,
  startingListener,
  toKoaMiddleware,
  toNodeListener,
  type KoaContext,
  type NodeListener,
} from './listener.js'
