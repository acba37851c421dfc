export { configureServer, type ServerTimeouts } from './configure-server.js'
export { toKoaMiddleware, type KoaContext } from './koa.js'
export { startingListener, toNodeListener, type NodeListener } from './listener.js'
