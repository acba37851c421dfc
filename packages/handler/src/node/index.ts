export { configureServer, type ServerTimeouts } from './configure-server.js'
export { startingListener, toKoaMiddleware, toNodeListener, type KoaContext, type NodeListener } from './listener.js'
