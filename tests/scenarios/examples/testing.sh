curl -X POST http://localhost:8200/v1/agents/register \
  -H "Content-Type: application/json" \
  -d '{"model_name": "test-agent-1", "role": "worker"}'

curl -X POST http://localhost:8200/v1/agents/register \
  -H "Content-Type: application/json" \
  -d '{"model_name": "test-agent-2", "role": "worker"}'

curl -X POST http://localhost:8200/v1/agents/messages/send \
  -H "Content-Type: application/json" \
  -d '{
    "from_agent_id": "test-agent-1_...",
    "to_agent_id": "test-agent-2_...",
    "content": "Hello!"
  }'

curl http://localhost:8200/v1/agents/messages/test-agent-2_...
