// Connect to WebSocket
const ws = new WebSocket('ws://localhost:8200/ws/agents');

ws.onmessage = (event) => {
  const data = JSON.parse(event.data);

  if (data.type === 'agent_message') {
    console.log(`Message from ${data.from_agent_id}: ${data.content}`);
  } else if (data.type === 'agent_broadcast') {
    console.log(`Broadcast from ${data.from_agent_id}: ${data.content}`);
  }
};

// Send message via REST API
async function sendMessage(fromId, toId, content) {
  const response = await fetch('http://localhost:8200/v1/agents/messages/send', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      from_agent_id: fromId,
      to_agent_id: toId,
      content: content
    })
  });

  return await response.json();
}
