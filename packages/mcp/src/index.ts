export { createMcpServer, type McpServerOptions } from './server.js'
export { createMcpHandler, type McpHandlerOptions } from './mcp-handler.js'
