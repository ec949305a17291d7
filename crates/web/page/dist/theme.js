"use strict";(()=>{try{let e=localStorage.getItem("interpreter.theme");(e==="light"||e==="dark")&&(document.documentElement.dataset.theme=e)}catch{}})();
